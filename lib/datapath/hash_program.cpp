#include "datapath/hash_program.h"
namespace teamo {
std::vector<sock_filter> hash_program(HashFields) {
    return {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 8}, {BPF_RET | BPF_A, 0, 0, 0}};
}
} // namespace teamo
