-- lock release: delete the key if it is still the owner's (compare and delete in one step: F02, F03).
-- KEYS[1] lock key; ARGV[1] owner id, ARGV[2] channel of those who wait.
-- Returns 1 if it was deleted, 0 if it was gone or another's, be that of a kind whose key is no string.
-- Telling the others may be forbidden, and the release holds good without it: pcall.
if redis.call('TYPE', KEYS[1]).ok ~= 'string' or redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
redis.pcall('PUBLISH', ARGV[2], '')
return 1
