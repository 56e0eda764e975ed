internal import UTF8Text

extension Excerpt {
    /// The excerpt in single quotes, as in the messages of rules compilers.
    var quotedSingly: String { "'\(text)'" }
}

extension String {
    /// The text as messages quote it: escaped, and shortened if it is long.
    var excerpt: String { Excerpt(self).text }
}
