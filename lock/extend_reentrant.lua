-- lock extend, reentrant: let the key live longer if the entry is still there (F04, F05).
-- KEYS[1] lock key; ARGV[1] field of the entry, ARGV[2] TTL in ms.
-- Returns 1 if it was renewed, 0 if the entry is gone. It never shortens what another entry was told.
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
