/// A part of a query by its JSON form, such as `where.and[1].op`, for errors.
struct QueryPlace: CustomStringConvertible {
    let description: String

    /// A member of the query itself.
    init(_ member: String) {
        description = member
    }

    func member(_ name: String) -> QueryPlace {
        QueryPlace(description + "." + name)
    }

    func element(_ index: Int) -> QueryPlace {
        QueryPlace(description + "[\(index)]")
    }

    /// The error for what stands here and may not.
    func error(_ message: String, field: FieldPath? = nil) -> StatusError {
        var error = StatusError(.invalidArgument, message, field: field?.description)
        error.place = description
        return error
    }

    /// Runs a step, and adds this place to its error.
    func of<Result>(_ step: () throws(StatusError) -> Result) throws(StatusError) -> Result {
        do throws(StatusError) {
            return try step()
        } catch {
            var error = error
            error.place = description
            throw error
        }
    }
}
