package import DocumentModel

/// The values of an enum in a message, by number and name.
package struct ProtoEnumeration<Value: Sendable>: Sendable {
    private let cases: [(number: Int, name: StaticString, value: Value)]

    /// Creates an enumeration from its cases, in the order in which errors list them.
    package init(_ cases: [(number: Int, name: StaticString, value: Value)]) {
        self.cases = cases
    }

    /// The names, separated by commas.
    package var names: String { cases.map(\.name.description).joined(separator: ", ") }

    /// Returns the value with a number, or `nil` if there is none.
    package func value(number: Int) -> Value? {
        cases.first { $0.number == number }?.value
    }

    /// Returns the value with a name, or `nil` if there is none.
    package func value(named name: String) -> Value? {
        cases.first { $0.name.withUTF8Buffer { $0.elementsEqual(name.utf8) } }?.value
    }

    /// Returns the value of a field in binary form, or `nil` for 0 if it stands for no value.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an unknown number.
    package func value(ofField number: Int) throws(StatusError) -> Value? {
        if let value = value(number: number) { return value }
        guard number == 0 else {
            throw StatusError(.invalidArgument, "Expected one of \(names), found \(number).")
        }
        return nil
    }
}
