/// The path of a parameter in a query's JSON, such as `where.and[1].op`, for errors.
struct ParameterPath: CustomStringConvertible {
    let description: String

    /// Creates the path of a top-level member.
    init(_ member: String) {
        description = member
    }

    func member(_ name: String) -> ParameterPath {
        ParameterPath(description + "." + name)
    }

    func element(_ index: Int) -> ParameterPath {
        ParameterPath(description + "[\(index)]")
    }

    /// Returns an error about this parameter.
    func error(_ message: String, field: FieldPath? = nil) -> StatusError {
        var error = StatusError(.invalidArgument, message, field: field?.description)
        error.parameterPath = description
        return error
    }

    /// Calls `body`, and adds this path to its error.
    func locating<Result>(_ body: () throws(StatusError) -> Result) throws(StatusError) -> Result {
        do throws(StatusError) {
            return try body()
        } catch {
            var error = error
            error.parameterPath = description
            throw error
        }
    }
}
