# Source this in bash or zsh: client builds then find Belay, and programs load its library.
_belay_home=$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)
export ASCEND_HOME_PATH=$_belay_home
export ASCEND_TOOLKIT_HOME=$_belay_home
export LD_LIBRARY_PATH=$_belay_home/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$_belay_home/bin:$PATH
unset _belay_home
