extension JSONScanner {
    /// The fault of a byte that can't stand where it does, or of a text that ends there.
    func unexpectedByte(at position: Int, expected: JSONSyntaxError.Expectation) -> Failure {
        guard position < text.count else { return unexpectedEnd() }
        return Failure(.unexpectedByte(text[position], expected: expected), at: position)
    }

    /// The fault of a text that ends in a string whose opening quote is at `start`.
    func unexpectedEnd(ofStringAt start: Int) -> Failure {
        unexpectedEnd(of: .string, at: start)
    }

    /// The fault of a text that ends outside strings.
    private func unexpectedEnd() -> Failure {
        // As long as an array or object is open, its entry has no extent.
        guard let open = tape.last(where: { $0.end == $0.start }) else { return Failure(.unexpectedEnd(in: nil), at: text.count) }
        return unexpectedEnd(of: open.kind == .object ? .object : .array, at: Int(open.start))
    }

    private func unexpectedEnd(of kind: JSONSyntaxError.Unclosed.Kind, at start: Int) -> Failure {
        let (line, column) = text.position(ofByteAt: start)
        return Failure(.unexpectedEnd(in: JSONSyntaxError.Unclosed(kind, line: line, column: column)), at: text.count)
    }
}
