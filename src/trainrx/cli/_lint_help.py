"""What `diagnose lint --help` says."""

HELP = """\
Usage: diagnose lint [OPTIONS] [PATH]...

  Say what is wrong with launches before they run: arguments this version does
  not take, values it refuses, traps of the shell, layouts that do not add up,
  memory that will not do.

  PATH is a launch script, a configuration or a folder (default: this one);
  - reads standard input.

    diagnose lint launch.sh --versions ms-swift==3.2.1
    diagnose lint scripts/ --fix
    diagnose lint - --format json < launch.sh

What is known beside the script:
  --versions FILE|NAME==VERSION  Output of pip freeze, ..., or ms-swift==3.2.1
  --env FILE                     Output of `env` where it runs
  --gpu NAME|24GiB               The card; --gpus N of the job, --nodes N
  --kb DIR  --rules DIR          More knowledge; may be repeated

Which rules:
  --select RULE,...              Only these: ids, groups (arguments, guards,
                                 shell, config, layout, environment, versions,
                                 memory, time, lint) or all
  --ignore RULE,...              All but these
  --extend-select RULE,...       These as well
  --exclude PATTERN,...          Files of folders to leave out
  --config FILE                  Settings; default trainrx.toml or the table
                                 [tool.trainrx] of pyproject.toml above PATH
  --isolated                     Read no settings
  --baseline FILE                Tell only what this file does not hold
  --write-baseline FILE          Write what is found into such a file
  --list                         List all rules

Mending:
  --fix                          Make safe fixes: names, spelling, shell traps
  --unsafe-fixes                 Make those that change results as well
  --diff                         Show what would be changed, change nothing

The answer:
  --format FORM                  text, json, sarif, github, gitlab, junit or
                                 markdown
  --statistics                   Count the findings of each rule
  --fail-on SEVERITY             Exit with 1 from here on: error, warning
                                 (default), info or none
  --exit-zero                    Exit with 0 whatever is found
  --lang en|zh                   Language; default from LC_ALL, LC_MESSAGES, LANG
  --color auto|always|never      Colour the text
  -o, --output FILE              Write the answer into a file
  -h, --help                     Show this message and exit

Exit status: 0 nothing found, 1 something found, 2 wrong use. A finding is held
back by `# diagnose: ignore=RULE reason` at the end of its line, or on a line of
its own above the command; `diagnose explain RULE` says what a rule is about.
"""
