--[[
Lints batch scripts before they are submitted: for slurm.conf with CliFilterPlugins=cli_filter/lua.

A script with errors is refused; warnings are shown and the job is submitted. Whatever goes wrong
with the check itself (it is missing, fails or takes too long), the job is submitted all the same.
A user submits without it by TRAINRX_SKIP=1. A script from standard input cannot be seen here.

https://slurm.schedmd.com/cli_filter_plugins.html
https://github.com/SchedMD/slurm/blob/slurm-26-05-3-1/src/plugins/cli_filter/lua/cli_filter_lua.c
]]

-- An absolute path: sbatch runs with the PATH of the user.
local LINT = os.getenv("TRAINRX_LINT") or "diagnose lint"
-- More options for it, such as "--versions /apps/versions.txt".
local OPTIONS = os.getenv("TRAINRX_LINT_OPTIONS") or ""
local SECONDS = tonumber(os.getenv("TRAINRX_TIMEOUT") or "") or 10

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- The command of the check for one job; nil where there is nothing to see.
local function command_for(options)
  local words = "timeout -k 1 " .. SECONDS .. " " .. LINT .. " --fail-on error --color never "
    .. OPTIONS .. " -- "
  local wrapped = options["wrap"]
  if wrapped ~= nil and wrapped ~= "" then
    return "printf '#!/bin/sh\\n%s\\n' " .. quoted(wrapped) .. " | " .. words .. "-"
  end
  local script = options["argv"] ~= nil and options["argv"][1] or nil
  local file = script ~= nil and io.open(script, "r") or nil
  if file == nil then
    return nil
  end
  file:close()
  return words .. quoted(script) .. " < /dev/null"
end

-- What the check says and its exit status; nil when it could not be run.
local function run(command)
  -- pipe:close() gives the status from Lua 5.2 on only
  local pipe = io.popen("{ " .. command .. "; } 2> /dev/null; printf '\\nstatus %d' $?", "r")
  if pipe == nil then
    return nil
  end
  local said = pipe:read("*a") or ""
  pipe:close()
  local text, status = said:match("^(.*)\nstatus (%d+)$")
  return text, tonumber(status)
end

local function refused(options)
  if options["type"] ~= "sbatch" or (os.getenv("TRAINRX_SKIP") or "") ~= "" then
    return false
  end
  local command = command_for(options)
  if command == nil then
    return false
  end
  local text, status = run(command)
  local lines = {}
  for line in (text or ""):gmatch("[^\n]+") do
    lines[#lines + 1] = line
  end
  -- a finding takes lines, the last one only counts: status 1 without any is Python's own
  if status == nil or status > 1 or (status == 1 and #lines < 2) then
    slurm.log_verbose("the launch was not checked: %s", tostring(status))
    return false
  end
  if #lines > 1 then
    for _, line in ipairs(lines) do
      slurm.log_info("%s", line)
    end
  end
  return status == 1
end

function slurm_cli_setup_defaults(options, early)
  return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
  -- all parts of a heterogeneous job have the same script
  if offset ~= nil and offset > 0 then
    return slurm.SUCCESS
  end
  -- an error that leaves this function would stop the job
  local fine, stop = pcall(refused, options)
  if not fine then
    slurm.log_verbose("the launch was not checked: %s", tostring(stop))
  elseif stop then
    slurm.log_error("%s", "the launch has errors. TRAINRX_SKIP=1 submits it all the same")
    return slurm.ERROR
  end
  return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
  return slurm.SUCCESS
end
