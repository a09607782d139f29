-- Keeps a table of attributes beside the others of its rollout.
-- Keys: attributes. Arguments: attributes, a table or nothing.

local function putAttributes(field)
  if attributes ~= '' then
    redis.call('HSET', attributesKey, field, attributes)
  end
end
