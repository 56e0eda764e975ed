import Crypto
import DocumentModel
import StrictJSON

/// The word that a form sends along, by which it is known to come from a page that this server gave to the same visitor.
///
/// It is the second lock against forms of other sites, behind what browsers say of where a form is from. It can't be made without
/// the secret, which lasts as long as the program runs: after that, forms are shown again with what was typed.
struct FormToken: Sendable {
    /// The name of the field.
    static let field: UTF8Key = "form-token"

    let text: String

    /// - Parameters:
    ///   - visitor: Whom the page is for.
    ///   - secret: What only this program knows.
    init(for visitor: UTF8Key, secret: SymmetricKey) {
        let code = HMAC<SHA256>.authenticationCode(for: Array(visitor.utf8), using: secret)
        text = Hexadecimal.encode(Array(code).prefix(16))
    }

    /// The token as a page has it, under a mask of its own.
    ///
    /// Pages are compressed, and show what others wrote: where a secret stays the same, the length of a page would tell how much of
    /// it somebody has guessed there.
    ///
    /// - Parameter mask: As many hexadecimal digits as the token has, others on each page.
    func masked(by mask: String) -> String {
        let digits = zip(text.utf8, mask.utf8).map { digit, mask in
            (Hexadecimal.value(of: digit) ?? 0) ^ (Hexadecimal.value(of: mask) ?? 0)
        }
        return digits.map { String($0, radix: 16) }.joined() + mask
    }

    /// Whether a form has sent this one. It takes the same time however much of it is right.
    func isSent(by form: Form) -> Bool {
        let sent = form[Self.field]?.string ?? ""
        let length = text.utf8.count
        guard sent.utf8.count == 2 * length else { return false }
        let own = masked(by: String(Substring(sent.utf8.suffix(length))))
        return zip(sent.utf8, own.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
