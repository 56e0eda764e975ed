/// The secret word by which a page's own style element is known to the browser, new for each response.
enum Nonce {
    /// 128 random bits in hexadecimal.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}
