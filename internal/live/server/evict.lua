-- Deletes keys by the policy ARGV[1], at most ARGV[2] of them; ARGV[3] is for the draw among equal ones. Returns their names.
local policy, count = ARGV[1], tonumber(ARGV[2])
math.randomseed(tonumber(ARGV[3]))
local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
	local ttl = redis.call('PTTL', key)
	if ttl >= 0 or not policy:find('^volatile%-') then
		local rank = 0
		if policy == 'volatile-ttl' then
			rank = ttl
		elseif policy:find('%-lru$') then
			rank = -redis.call('OBJECT', 'IDLETIME', key)
		end
		all[#all + 1] = {key = key, rank = rank, chance = math.random()}
	end
end
table.sort(all, function(a, b)
	if a.rank ~= b.rank then return a.rank < b.rank end
	return a.chance < b.chance
end)
local deleted = {}
for i = 1, math.min(count, #all) do
	redis.call('DEL', all[i].key)
	deleted[i] = all[i].key
end
return deleted
