-- Stores a table of attributes of a rollout.
-- Keys: attributes. Arguments: attributes, a table or nothing.
-- Field: `plan`, or the rev of the rollout with these late joiners.

local function putAttributes(field)
  if attributes ~= '' then
    redis.call('HSET', attributesKey, field, attributes)
  end
end
