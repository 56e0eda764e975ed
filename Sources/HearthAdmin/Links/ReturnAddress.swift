import StrictJSON

/// An address on this server to go back to after a form was sent.
///
/// It comes from the form, so it is checked that no browser reads another host in it: a path that begins with one slash, and
/// nothing but visible ASCII, as addresses of pages have it.
struct ReturnAddress: Sendable {
    /// The path, with its query.
    let url: String

    /// Takes an address that a form sent; that of the overview for none, or one that leads elsewhere.
    init(_ address: UTF8Key?) {
        let bytes = address?.string.utf8
        let slash = UInt8(ascii: "/")
        let backslash = UInt8(ascii: "\\")
        guard let bytes, bytes.first == slash, bytes.dropFirst().first != slash,
            bytes.allSatisfy({ (0x21...0x7e).contains($0) && $0 != backslash })
        else {
            url = AdminURL.overview
            return
        }
        url = String(Substring(bytes[...]))
    }
}
