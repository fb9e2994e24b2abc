-- fence guard: decide on an operation and carry it out, in one step.
-- KEYS[1] hash; ARGV[1] token, ARGV[2] grant id, ARGV[3] version that a write is based on, ARGV[4] field,
-- ARGV[5] the value to write, absent in a read.
-- Returns {1, version, value found} or, with nothing changed, {0, highest token, grant id, version}.
-- Numbers are decimal text, since Lua's are exact up to 2^53 only.
local key, token, grant, base, field, value = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local found = redis.call('HMGET', key, 'fence:highest', 'fence:grant', 'fence:version:' .. field, field)
local highest, holder, version = found[1] or '0', found[2] or '', found[3] or '0'

local function below(a, b)
  return #a < #b or (#a == #b and a < b)
end

local function refuse()
  return {0, highest, holder, version}
end

-- accept stores what the rule remembers, and the value. It is one command, since Redis does not roll
-- back a script that fails half-way.
local function accept(...)
  local fields = {...}
  if value then
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end
  if #fields > 0 then
    redis.call('HSET', key, unpack(fields))
  end
  return {1, version, found[4]}
end

