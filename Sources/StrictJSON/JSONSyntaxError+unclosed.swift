extension JSONSyntaxError {
    /// What a text that ends too early has begun and not closed.
    public struct Unclosed: Hashable, Sendable {
        /// What can be begun and closed.
        public enum Kind: Hashable, Sendable {
            case string
            case array
            case object
        }

        /// What it is.
        public let kind: Kind
        /// The line where it begins, counted from 1.
        public let line: Int
        /// The place in that line, counted from 1 in Unicode scalars.
        public let column: Int

        /// Makes a value from its parts.
        public init(_ kind: Kind, line: Int, column: Int) {
            self.kind = kind
            self.line = line
            self.column = column
        }
    }
}

extension JSONSyntaxError.Unclosed: CustomStringConvertible {
    /// What it is and where it begins, in words.
    public var description: String { "the \(kind) that begins at line \(line), column \(column)" }
}
