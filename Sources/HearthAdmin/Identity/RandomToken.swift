import UTF8Text

/// Unguessable tokens: CSP nonces, CSRF masks, and the IDs of jobs and uploads.
enum RandomToken {
    /// Returns 128 random bits in hexadecimal.
    static func make() -> String {
        Hexadecimal.random(byteCount: 16)
    }
}
