import Cryptography
import UTF8Text

/// The CSRF token of a form. It proves that the form is from a page that this server rendered for the same principal.
///
/// It is the second line of defense after the `Origin` and `Sec-Fetch-Site` checks. It is derived from a secret that lasts until
/// the process ends; a form from before a restart is shown again with its contents.
struct CSRFToken: Sendable {
    /// The name of the form field.
    static let field: UTF8Key = "form-token"

    let text: String

    /// - Parameters:
    ///   - owner: The identity that the page is rendered for.
    ///   - secret: The key of the HMAC.
    init(for owner: UTF8Key, secret: SymmetricKey) {
        text = Hexadecimal.encode(secret.authenticationCode(for: Array(owner.utf8)).prefix(16))
    }

    /// Returns the token XORed with a mask, followed by the mask.
    ///
    /// Pages are compressed and show text of other users. A constant secret could be guessed from the length of the pages
    /// (BREACH).
    ///
    /// - Parameter mask: Fresh random hexadecimal digits, as many as the token has.
    func masked(by mask: String) -> String {
        let digits = zip(text.utf8, mask.utf8).map { digit, mask in
            (Hexadecimal.value(of: digit) ?? 0) ^ (Hexadecimal.value(of: mask) ?? 0)
        }
        return digits.map { String($0, radix: 16) }.joined() + mask
    }

    /// Returns whether a form carries this token. The comparison takes constant time.
    func matches(_ form: Form) -> Bool {
        let sent = form[Self.field]?.string ?? ""
        let length = text.utf8.count
        guard sent.utf8.count == 2 * length else { return false }
        let expected = masked(by: String(Substring(sent.utf8.suffix(length))))
        return zip(sent.utf8, expected.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
