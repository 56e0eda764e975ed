/// JSON text with invisible characters escaped.
enum EscapedJSON {
    /// Escapes invisible characters, which occur only inside strings.
    static func text(_ json: [UInt8]) -> String {
        DisplayText(String(decoding: json, as: UTF8.self), lines: .multiple).runs.map { run in
            (run.mark?.scalar).map { String($0).utf16.map(escape).joined() + run.text } ?? run.text
        }.joined()
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
