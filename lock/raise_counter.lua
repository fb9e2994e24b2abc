-- raise a token counter, never lower it.
-- KEYS[1] token counter; ARGV[1] the least that it is to be, in decimal digits.
-- Compared as text of equal length, since numbers are exact up to 2^53 only.
local now = redis.call('GET', KEYS[1]) or '0'
if #now < #ARGV[1] or (#now == #ARGV[1] and now < ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
end
return 1
