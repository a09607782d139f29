-- Stores a table of attributes of a rollout.
-- Keys: attributes. Arguments: attributes, a table or nothing.

local function putAttributes(field)
  if attributes ~= '' then
    redis.call('HSET', attributesKey, field, attributes)
  end
end
