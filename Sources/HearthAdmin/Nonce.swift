import DocumentModel

/// The secret word by which a page's own style element is known to the browser, new for each response.
enum Nonce {
    /// 128 random bits in hexadecimal.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
