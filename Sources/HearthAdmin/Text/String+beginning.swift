extension String {
    /// The text without its middle, when it has more Unicode scalars than `limit`: of a long address or ID, the beginning and the
    /// end tell most.
    func shortened(scalars limit: Int) -> String {
        // Every scalar takes at least a byte.
        guard utf8.count > limit, unicodeScalars.count > limit else { return self }
        return String(unicodeScalars.prefix(limit - limit / 3 - 1)) + "…" + String(unicodeScalars.suffix(limit / 3))
    }

    /// The first characters, at most `limit` Unicode scalars of them, and whether anything follows.
    ///
    /// Characters stay whole, so that no emoji or accent is torn, unless one alone is longer than the limit.
    func beginning(scalars limit: Int) -> (text: String, isCut: Bool) {
        // Every scalar takes at least a byte.
        guard utf8.count > limit else { return (self, false) }
        if let beginning = asciiBeginning(limit) { return (beginning, true) }
        guard let end = unicodeScalars.index(startIndex, offsetBy: limit, limitedBy: unicodeScalars.endIndex),
            end < unicodeScalars.endIndex
        else { return (self, false) }
        // Only the character at the cut is looked at: one with a long tail of combining marks costs no more than another.
        let near = unicodeScalars.index(end, offsetBy: -min(limit, 16))
        var whole = near
        for character in self[near...].prefix(17) {
            let next = unicodeScalars.index(whole, offsetBy: character.unicodeScalars.count)
            if next > end { break }
            whole = next
        }
        return (String(unicodeScalars[..<(whole > near ? whole : end)]), true)
    }

    /// The first bytes, where all are ASCII and none clings to them: most texts end here.
    private func asciiBeginning(_ limit: Int) -> String? {
        let beginning = utf8.prefix(limit + 1)
        guard limit > 0, beginning.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\r") }) else { return nil }
        return String(Substring(beginning.dropLast()))
    }
}
