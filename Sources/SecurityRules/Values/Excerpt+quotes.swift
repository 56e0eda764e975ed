internal import UTF8Text

extension Excerpt {
    /// The excerpt in single quotes, as in the messages of rules compilers.
    var quotedSingly: String { "'\(text)'" }
}
