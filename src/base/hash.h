/* A 64-bit hash for state comparison and checksums; not cryptographic. */
#ifndef MN_BASE_HASH_H
#define MN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MN_HASH_START UINT64_C(0x9e3779b97f4a7c15)

/* Chains: h = mn_hash(h, a, na); h = mn_hash(h, b, nb). */
uint64_t mn_hash(uint64_t h, const void *data, size_t bytes);

#endif
