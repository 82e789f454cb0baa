import { ALL_STATES, isLast, LIST_BOUNDS, type ListTime } from 'parley-a2a/storage-engine';
import { KEY } from './redis-keys.js';

/** Number of list entries that one command reads. */
const CHUNK = 100;
/** Maximum number of tasks of a context that are sorted in memory for a list by creation. */
const SORTED = 10_000;

/** Returns Lua that checks whether `time` passes the filters of its kind. `isPast`: only those that end a list. */
function withinLua(kind: ListTime, isPast = false): string {
  return LIST_BOUNDS.filter((bound) => bound.time === kind && (!isPast || isLast(bound, kind)))
    .map(({ name, operator }) => `(not bounds.${name} or time ${operator} bounds.${name})`)
    .join(' and ');
}

/** Lua that iterates over the tasks of a scope in the order of a list, and collects those that match. */
const WALK = `
local scope, order, context, wanted = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local bounds = { ${LIST_BOUNDS.map(({ name }, at) => `${name} = tonumber(ARGV[${6 + at}])`).join(', ')} }
local cursor_time, cursor_id = tonumber(ARGV[9]), ARGV[10]
local bound = tonumber(ARGV[11])
local made = base .. '${KEY.made}' .. scope
local in_context = base .. '${KEY.context}' .. scope .. context

local ESCAPES = { ['"'] = '\\\\"', ['\\\\'] = '\\\\\\\\', ['\\b'] = '\\\\b', ['\\f'] = '\\\\f', ['\\n'] = '\\\\n',
  ['\\r'] = '\\\\r', ['\\t'] = '\\\\t' }
-- The NAME of a task, as JSON.stringify writes it.
local function name_of(id)
  local text = string.gsub(id, '[%z\\1-\\31"\\\\]', function(char)
    return ESCAPES[char] or string.format('\\\\u%04x', string.byte(char))
  end)
  return string.sub(scope, 1, -2) .. ',"' .. text .. '"]'
end
-- Compares bytes, as sorted sets do. The comparison of Lua depends on the locale of the server.
local function is_before(one, other)
  for at = 1, math.min(#one, #other) do
    local a, b = string.byte(one, at), string.byte(other, at)
    if a ~= b then
      return a < b
    end
  end
  return #one < #other
end

-- Count of the members of a sorted set that come before a time and an id.
local function rank_of(key, time, id)
  local low, high = call('ZCOUNT', key, '-inf', '(' .. num(time)), call('ZCOUNT', key, '-inf', num(time))
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_before(call('ZRANGE', key, middle, middle)[1], id) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local sources = {}
-- The entries of a source come from the end: id, time, id, time.
local function refill(source)
  while #source.items == 0 and source.left > 0 do
    local from = math.max(0, source.left - ${CHUNK})
    source.items = call('ZRANGE', source.key, from, source.left - 1, 'WITHSCORES')
    source.left = from
  end
end
local function open_source(key, state)
  local left = cursor_time and rank_of(key, cursor_time, cursor_id) or call('ZCARD', key)
  if key == made and bounds.createdBefore then
    left = math.min(left, call('ZCOUNT', key, '-inf', '(' .. num(bounds.createdBefore)))
  end
  local source = { key = key, state = state, left = left, items = {} }
  refill(source)
  sources[#sources + 1] = source
end
local function open_sorted()
  local entries = {}
  for _, id in ipairs(call('ZRANGE', in_context, 0, -1)) do
    local time = tonumber(call('ZSCORE', made, id))
    local is_behind = not cursor_time or time < cursor_time or (time == cursor_time and is_before(id, cursor_id))
    if is_behind then
      entries[#entries + 1] = { id, time }
    end
  end
  table.sort(entries, function(one, other)
    if one[2] ~= other[2] then
      return one[2] < other[2]
    end
    return is_before(one[1], other[1])
  end)
  local items = {}
  for _, entry in ipairs(entries) do
    items[#items + 1] = entry[1]
    items[#items + 1] = num(entry[2])
  end
  sources[1] = { key = in_context, left = 0, items = items }
end
local is_sorted = context ~= '' and order == 'created' and call('ZCARD', in_context) <= ${SORTED}
if is_sorted then
  open_sorted()
elseif order == 'created' then
  open_source(made)
elseif context ~= '' then
  open_source(in_context)
else
  for state in string.gmatch(wanted ~= '' and wanted or '${ALL_STATES.join()}', '%d+') do
    open_source(base .. '${KEY.state}' .. state .. scope, state)
  end
end

-- The next entry of all sources: id, time, and state if the source has one state only.
local function next_entry()
  local best
  for _, source in ipairs(sources) do
    local count = #source.items
    if count > 0 then
      local time = tonumber(source.items[count])
      if not best or time > best.time or (time == best.time and is_before(best.id, source.items[count - 1])) then
        best = { source = source, id = source.items[count - 1], time = time }
      end
    end
  end
  if not best then
    return nil
  end
  local items = best.source.items
  items[#items] = nil
  items[#items] = nil
  refill(best.source)
  return best.id, best.time, best.source.state
end
-- True if no entry from this one on can match.
local function is_past(time)
  if order == 'status' then
    return not (${withinLua('status', true)})
  end
  return not (${withinLua('created', true)})
end
local function is_status_within(time)
  return ${withinLua('status')}
end
local function is_created_within(time)
  return ${withinLua('created')}
end
local is_created_bounded = bounds.createdAfter or bounds.createdBefore
local function is_wanted(state)
  return wanted == '' or string.find(',' .. wanted .. ',', ',' .. state .. ',', 1, true)
end
local function matches(id, time, state)
  if order == 'status' then
    if is_created_bounded and not is_created_within(tonumber(call('ZSCORE', made, id))) then
      return false
    end
    if state or wanted == '' then
      return true
    end
  else
    if not is_created_within(time) then
      return false
    end
    if context ~= '' and not is_sorted and not call('ZSCORE', in_context, id) then
      return false
    end
    if wanted == '' and not bounds.statusAfter then
      return true
    end
  end
  local head = parse(call('HGET', base .. '${KEY.task}' .. name_of(id), 'h'))
  return is_wanted(head.state) and (order == 'status' or is_status_within(head.since))
end
`;

/**
 * Reads a page of a list. Returns the time, the entries, and the reason for its end. 0: the list has ended. 1: the page
 * is full. 2: the maximum number of tasks was read. Then the last entry read, and the remaining offset. An entry is its
 * id, its time, 1 if its content is complete, and the content.
 */
export const LIST = `${WALK}
local offset, limit, left = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local whole_content = content
local artifacts, history, has_first = ARGV[15] == '1', ARGV[16] == '1', ARGV[17] == '1'
local found, looked = {}, 0
local last_time, last_id = '', ''

-- Reads a task if the page has room for it.
local function read(id, time)
  local task, name = base .. '${KEY.task}' .. name_of(id), name_of(id)
  local small = call('HMGET', task, 'h', 'n', 'c', 's', 'd')
  local head = parse(small[1])
  local bytes = #small[4] + (small[5] and #small[5] or 0)
  local is_whole = artifacts or history
  if is_whole and head.ended == 0 then
    bytes = bytes + head.bytes + call('HSTRLEN', task, 'yh') + call('HSTRLEN', task, 'ya')
  elseif is_whole then
    bytes = bytes + (history and call('HSTRLEN', task, 'yh') or 0) + (artifacts and call('HSTRLEN', task, 'ya') or 0)
  end
  if (#found > 0 or has_first) and bytes > left then
    return false
  end
  left = left - bytes
  local content
  if not is_whole then
    content = { small, {} }
  elseif head.ended > 0 then
    local large = { history and 'yh' or '', artifacts and 'ya' or '' }
    content = { call('HMGET', task, 'h', 'n', 'c', 's', 'd', '', '', '', unpack(large)), {} }
  else
    content = whole_content(task, base .. '${KEY.log}' .. name, head)
  end
  found[#found + 1] = { id, num(time), is_whole and 1 or 0, content }
  return true
end

while true do
  local id, time, state = next_entry()
  if not id or is_past(time) then
    return { num(now()), found, 0 }
  end
  if looked >= bound then
    return { num(now()), found, 2, last_time, last_id, num(offset) }
  end
  looked = looked + 1
  if matches(id, time, state) then
    if offset > 0 then
      offset = offset - 1
    elseif #found >= limit or not read(id, time) then
      return { num(now()), found, 1 }
    end
  end
  last_time, last_id = num(time), id
end
`;

/**
 * Returns the number of matching tasks. If it stops at the maximum number of tasks, it also returns the last task, and
 * the number of tasks after it.
 */
export const COUNT = `${WALK}
local function count_of(key)
  if bounds.statusAfter then
    return call('ZCOUNT', key, num(bounds.statusAfter), '+inf')
  end
  return call('ZCARD', key)
end
if not is_created_bounded and context == '' then
  local count = 0
  for state in string.gmatch(wanted ~= '' and wanted or '${ALL_STATES.join()}', '%d+') do
    count = count + count_of(base .. '${KEY.state}' .. state .. scope)
  end
  return { count }
elseif not is_created_bounded and wanted == '' then
  return { count_of(in_context) }
elseif context == '' and wanted == '' and not bounds.statusAfter then
  local from, to = bounds.createdAfter, bounds.createdBefore
  return { call('ZCOUNT', made, from and '(' .. num(from) or '-inf', to and '(' .. num(to) or '+inf') }
end
local count, looked = 0, 0
local last_time, last_id = '', ''
while true do
  local id, time, state = next_entry()
  if not id or is_past(time) then
    return { count }
  end
  if looked >= bound then
    local rest = 1
    for _, source in ipairs(sources) do
      rest = rest + source.left + #source.items / 2
    end
    return { count, last_time, last_id, num(rest) }
  end
  looked = looked + 1
  if matches(id, time, state) then
    count = count + 1
  end
  last_time, last_id = num(time), id
end
`;

/**
 * Reads tasks of a partition that have waited for their caller for longer than an age, and have no turn. ARGV: the age,
 * the limit, and the agents. Returns NAME and the time of each, oldest first for each agent.
 */
export const ABANDONED = `
local before, limit = now() - tonumber(ARGV[2]), tonumber(ARGV[3])
local found = {}
for at = 4, #ARGV do
  local key, offset, left = base .. '${KEY.waits}' .. ARGV[at], 0, limit
  while left > 0 do
    local members = call('ZRANGE', key, '-inf', '(' .. num(before), 'BYSCORE', 'LIMIT', offset, ${CHUNK}, 'WITHSCORES')
    for place = 1, #members, 2 do
      local head = call('HGET', base .. '${KEY.task}' .. members[place], 'h')
      if left > 0 and head and parse(head).queue == '' then
        found[#found + 1] = members[place]
        found[#found + 1] = members[place + 1]
        left = left - 1
      end
    end
    offset = offset + ${CHUNK}
    if #members < ${2 * CHUNK} then
      break
    end
  end
end
return found
`;
