internal import UTF8Text

/// The result of a function that reads a document, in a test of rules without that document.
struct FunctionMock: Sendable {
    let function: GlobalFunction
    /// The path of the document as text; `nil` for any.
    let path: String?
    /// The result; `nil` for an error.
    let result: RuleValue?

    /// The functions that can have mocks.
    static let functions: [GlobalFunction] = [.get, .exists, .getAfter, .existsAfter]

    /// Returns whether the mock is for a call.
    func matches(_ function: GlobalFunction, _ path: RulePath) -> Bool {
        guard function == self.function else { return false }
        guard let expected = self.path else { return true }
        return path.text?.utf8.elementsEqual(expected.utf8) == true
    }
}
