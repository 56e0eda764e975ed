import DocumentModel

/// The secret word by which a page's own style element is known to the browser, new for each response.
enum Nonce {
    /// 128 random bits in hexadecimal.
    static func make() -> String {
        Hexadecimal.random(byteCount: 16)
    }
}
