extension String {
    /// The parts of a path between its slashes.
    ///
    /// They are separated byte by byte, as the system does: a slash before a combining character is no character of its own, and `split`
    /// would not find it.
    package var pathComponents: [Substring] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }
}
