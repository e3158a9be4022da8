#!/usr/bin/env bash
# Subcommands and options of the contract exist; wrong usage is one line and exit 2.
. "$(dirname "$0")/checks.bash" || exit

expect 0 --help
for command in list plan bench tune profile report run launch validate; do has_option "$command"; done
silent
expect 0 --version
grep -qE '^elbowroom [0-9]+\.[0-9]+\.[0-9]+$' "$out" || fail 'no version'
silent

expect 0 list --help
silent
expect 0 plan --help
for option in --device --threads --registers --static-shared --dynamic-shared --comm --json; do has_option "$option"; done
silent
expect 0 bench --help
for option in --suite --scenario --only --backend --device -g --gpus --scheme --trials --seed --blocks-per-sm --min-reduction \
  --timeout --plan --json --markdown --trace --dry-run; do
  has_option "$option"
done
silent

expect 0 tune --help
for option in --suite --scenario --backend --device -g --seed --budget --candidates --without-prior --profile --json; do has_option "$option"; done
silent
expect 0 profile --help
for command in list show export import; do has_option "$command"; done
silent

expect 2
complains 'subcommand'
expect 2 nonsense
complains "elbowroom: 'nonsense' is no subcommand, expected one of "
expect 2 --nonsense
complains 'elbowroom: '
for command in list plan bench tune run; do
  expect 2 "$command" --nonsense
  complains '--nonsense'
  expect 2 "$command" nonsense
  complains 'nonsense'
done

# Arguments are named in the order in which they were typed.
expect 2 tune torchrun --nproc-per-node 2 train.py
complains 'arguments were not expected: torchrun --nproc-per-node 2 train.py; see elbowroom tune --help'
expect 2 list x
complains 'argument was not expected: x; see'

# A variable that a script did not set is no value.
expect 2 run --report '' -- true
complains '--report: empty, expected a value'
expect 2 run --policy '' -- true
complains '--policy: empty, expected a value'
expect 2 plan --device '' --threads 256 --registers 56
complains '--device: empty, expected a value'
expect 2 plan --threads '' --registers 56
complains '--threads: empty, expected a value'
expect 2 tune --budget ''
complains '--budget: empty, expected a value'
expect 2 profile list --profile ''
complains '--profile: empty, expected a value'
expect 2 profile export ''
complains 'file: empty, expected a value'

finish
