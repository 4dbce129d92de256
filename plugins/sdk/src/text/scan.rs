//! Looking for bytes that need escaping, 64 at a time: written so that the compiler uses the vector
//! instructions of the machine at hand (SSE2, NEON, simd128).

/// Whether any byte satisfies the test, which should be free of branches.
#[inline(always)]
pub fn any_byte(bytes: &[u8], test: impl Fn(u8) -> bool) -> bool {
    let (blocks, rest) = bytes.as_chunks::<64>();
    for block in blocks {
        let mut found = false;
        for &byte in block {
            found |= test(byte);
        }
        if found {
            return true;
        }
    }
    let mut found = false;
    for &byte in rest {
        found |= test(byte);
    }
    found
}
