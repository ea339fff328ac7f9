#include "fabric/fabric.hpp"
