-- What was done under an API key today. ARGV: key's id.
-- Returns {jobs, positions, nodes, streams open now}.
local used = read_usage(ARGV[1])
local streams = api_key_key(ARGV[1]) .. ':streams'
return {used.jobs, used.positions, text(used.nodes), call('ZCOUNT', streams, text(now_ms()), '+inf')}
