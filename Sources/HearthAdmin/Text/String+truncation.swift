extension String {
    /// Returns the text with its middle replaced with an ellipsis when it has more than `limit` Unicode scalars. The beginning
    /// and the end of a long URL or ID identify it best.
    func truncatingMiddle(toScalars limit: Int) -> String {
        // A scalar has at least one byte.
        guard utf8.count > limit, unicodeScalars.count > limit else { return self }
        return String(unicodeScalars.prefix(limit - limit / 3 - 1)) + "…" + String(unicodeScalars.suffix(limit / 3))
    }

    /// Returns the first characters, at most `limit` Unicode scalars, and whether the text was truncated.
    ///
    /// Grapheme clusters are not split unless a single one exceeds the limit.
    func truncated(toScalars limit: Int) -> (text: String, isTruncated: Bool) {
        // A scalar has at least one byte.
        guard utf8.count > limit else { return (self, false) }
        if let prefix = asciiPrefix(limit) { return (prefix, true) }
        guard let end = unicodeScalars.index(startIndex, offsetBy: limit, limitedBy: unicodeScalars.endIndex),
            end < unicodeScalars.endIndex
        else { return (self, false) }
        // Only grapheme clusters near the limit are examined, so a long run of combining marks costs no more than other text.
        let near = unicodeScalars.index(end, offsetBy: -min(limit, 16))
        var whole = near
        for character in self[near...].prefix(17) {
            let next = unicodeScalars.index(whole, offsetBy: character.unicodeScalars.count)
            if next > end { break }
            whole = next
        }
        return (String(unicodeScalars[..<(whole > near ? whole : end)]), true)
    }

    /// Returns the first bytes if all are ASCII and form separate grapheme clusters: the fast path for most text.
    private func asciiPrefix(_ limit: Int) -> String? {
        let prefix = utf8.prefix(limit + 1)
        guard limit > 0, prefix.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\r") }) else { return nil }
        return String(Substring(prefix.dropLast()))
    }
}
