# The older place of set_env.sh, which some client builds source.
. "$(dirname "${BASH_SOURCE[0]:-$0}")/../set_env.sh"
