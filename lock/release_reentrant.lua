-- lock release, reentrant: undo one entry, and delete the key with the last one.
-- KEYS[1] lock key; ARGV[1] field of the owner, ARGV[2] field of the entry, ARGV[3] channel of those who wait.
-- Returns 1 if the entry was undone, 0 if it is not there: undone before, or the grant it belonged to has
-- ended. Nothing is counted down then (F30, F33). Only the last entry's release is told to others.
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or redis.call('HDEL', KEYS[1], ARGV[2]) == 0 then
  return 0
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) <= 0 then
  redis.call('DEL', KEYS[1])
  redis.pcall('PUBLISH', ARGV[3], '')
end
return 1
