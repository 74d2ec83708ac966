"""Prints what PyYAML reads in each file 0.yaml, 1.yaml, … of a directory, as a line of JSON."""
import json
import sys

import yaml


class Loader(yaml.SafeLoader):
    """Takes a tag that it does not know for none."""


def untagged(loader, _, node):
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_mapping(node, deep=True)


Loader.add_multi_constructor("", untagged)
for n in range(int(sys.argv[2])):
    documents = []
    try:
        with open(f"{sys.argv[1]}/{n}.yaml", "rb") as file:
            for document in yaml.load_all(file, Loader):
                text = json.dumps(document, default=lambda _: None, skipkeys=True, allow_nan=False)
                documents.append(json.loads(text))
    except Exception:  # whatever it raises: what it read before counts
        pass
    print(json.dumps({"file": n, "reader": "PyYAML", "documents": documents}))
