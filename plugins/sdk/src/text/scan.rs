//! Looking for bytes that need escaping, 64 at a time: written so that the compiler uses the vector
//! instructions of the machine at hand (SSE2, NEON, simd128).

/// Returns whether any byte satisfies the test, which should be free of branches.
///
/// ```
/// use yearbook_sdk::text::any_byte;
///
/// assert!(any_byte(b"a,b", |byte| byte == b','));
/// ```
#[inline(always)]
pub fn any_byte(bytes: &[u8], test: impl Fn(u8) -> bool) -> bool {
    let (blocks, rest) = bytes.as_chunks::<64>();
    for block in blocks {
        if any_of(block, &test) {
            return true;
        }
    }
    let (blocks, rest) = rest.as_chunks::<16>();
    for block in blocks {
        if any_of(block, &test) {
            return true;
        }
    }
    match bytes.last_chunk::<16>() {
        // A few bytes are looked at twice.
        Some(last) => any_of(last, &test),
        None => rest.iter().any(|&byte| test(byte)),
    }
}

/// Position of the first byte that satisfies the test, which should be free of branches.
///
/// ```
/// use yearbook_sdk::text::first_byte;
///
/// assert_eq!(first_byte(b"a,b", |byte| byte == b','), Some(1));
/// ```
#[inline(always)]
pub fn first_byte(bytes: &[u8], test: impl Fn(u8) -> bool) -> Option<usize> {
    let clean = clean::<64>(bytes, &test);
    let clean = clean + self::clean::<16>(&bytes[clean..], &test);
    bytes[clean..].iter().position(|&byte| test(byte)).map(|position| clean + position)
}

/// Number of bytes at the start, in whole blocks, that do not satisfy the test.
#[inline(always)]
fn clean<const N: usize>(bytes: &[u8], test: impl Fn(u8) -> bool) -> usize {
    bytes.as_chunks::<N>().0.iter().take_while(|block| !any_of::<N>(block, &test)).count() * N
}

#[inline(always)]
fn any_of<const N: usize>(block: &[u8; N], test: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |found, &byte| found | test(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_wherever_it_stands() {
        for length in 0..200 {
            let mut bytes = vec![b'a'; length];
            assert!(!any_byte(&bytes, |byte| byte == b'"'));
            assert_eq!(first_byte(&bytes, |byte| byte == b'"'), None);
            for position in (0..length).rev() {
                bytes[position] = b'"';
                assert_eq!(first_byte(&bytes, |byte| byte == b'"'), Some(position));
                assert!(any_byte(&bytes[..=position], |byte| byte == b'"'));
                assert!(any_byte(&bytes[position..], |byte| byte == b'"'));
                assert!(!any_byte(&bytes[..position], |byte| byte == b'"'));
            }
        }
    }
}
