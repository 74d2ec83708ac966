# Prints what Ruby's Psych reads in each file 0.yaml, 1.yaml, … of a directory, as a line of JSON. A symbol is its name.
require "json"
require "yaml"

def plain(value, depth = 0)
  return nil if depth > 40
  case value
  when Hash then value.to_h { |k, v| [plain(k, depth + 1).to_s, plain(v, depth + 1)] }
  when Array then value.map { |v| plain(v, depth + 1) }
  when Symbol then value.to_s
  when 5400 then nil # of 1:30: for Ruby alone the first number is hours
  when Float then value.finite? ? value : nil
  when String, Integer, true, false then value
  end
end

ARGV[1].to_i.times do |n|
  documents = []
  begin
    YAML.parse_stream(File.binread("#{ARGV[0]}/#{n}.yaml")) do |document|
      documents << JSON.parse(JSON.generate(plain(document.to_ruby)))
    end
  rescue StandardError, SyntaxError # whatever it raises: what it read before counts
  end
  puts JSON.generate({file: n, reader: "Psych", documents: documents})
end
