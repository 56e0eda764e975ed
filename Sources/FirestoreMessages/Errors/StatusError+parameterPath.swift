package import DocumentModel
import UTF8Text

extension StatusError {
    /// Returns the error with its path prefixed by that of the enclosing field, or of an element such as `[3]`.
    package func prefixingPath(with outer: String) -> StatusError {
        var error = self
        error.parameterPath =
            switch parameterPath {
            case nil: outer
            case .some(let inner) where inner.utf8.first == UInt8(ascii: "["): outer + inner
            case .some(let inner): outer + "." + inner
            }
        return error
    }

    /// Runs a closure that decodes a field of a message, and prefixes the paths of its errors.
    package static func locating<Value>(
        in field: String,
        _ decode: () throws(StatusError) -> Value
    ) throws(StatusError) -> Value {
        do throws(StatusError) {
            return try decode()
        } catch {
            throw error.prefixingPath(with: field)
        }
    }

    /// Decodes the elements of a repeated field, and prefixes the paths of errors.
    package static func locating<Element, Value>(
        elementsOf elements: some Sequence<Element>,
        in field: String,
        _ decode: (Element) throws(StatusError) -> Value
    ) throws(StatusError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(elements.underestimatedCount)
        for element in elements {
            do throws(StatusError) {
                values.append(try decode(element))
            } catch {
                throw error.prefixingPath(with: "[\(values.count)]").prefixingPath(with: field)
            }
        }
        return values
    }

    /// Returns the error for an absent field.
    ///
    /// - Parameter name: The JSON name of the field, lowerCamelCase.
    package static func missing(_ name: String) -> StatusError {
        StatusError(.invalidArgument, "\(name) is required.")
    }

    /// The message with the locations that the error carries, since the protocol has no fields for them.
    package var messageWithLocation: String {
        var locations: [String] = []
        if let writeIndex { locations.append("writes[\(writeIndex)]") }
        if let parameterPath { locations.append("at \(parameterPath)") }
        if let field { locations.append("field \(Excerpt(field).text)") }
        return locations.isEmpty ? message : message + " (" + locations.joined(separator: ", ") + ")"
    }
}
