extension DocumentPath {
    /// The path as a text for people may have it: whole, with what is invisible or turns the direction of writing escaped.
    package var shown: String {
        Excerpt(string, maximumBytes: .max).text
    }
}
