# The image holds the program, which is static, and the licences: no shell, no libraries.
# It is built from a release's binaries, OS/ARCH/policyscan in the build context:
#
#   docker run --rm -v "$PWD:/src:ro" ghcr.io/policyscan/policyscan
#
# docs/install.md says where the verdict goes.
FROM scratch
ARG TARGETPLATFORM
ARG VERSION=devel
ARG REVISION=
LABEL org.opencontainers.image.title="policyscan" \
      org.opencontainers.image.description="Check the files of a repository against a team's rules" \
      org.opencontainers.image.url="https://github.com/policyscan/policyscan" \
      org.opencontainers.image.source="https://github.com/policyscan/policyscan" \
      org.opencontainers.image.documentation="https://github.com/policyscan/policyscan/blob/main/docs/install.md" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY LICENSE THIRD-PARTY.txt /usr/share/doc/policyscan/
COPY --chmod=0755 ${TARGETPLATFORM}/policyscan /usr/bin/policyscan
# A number, so that a cluster can tell that it is not root.
USER 65532:65532
WORKDIR /src
# The repository is to be mounted read-only, so no file can be written there.
ENV POLICYSCAN_OUTPUT=none
ENTRYPOINT ["/usr/bin/policyscan"]
