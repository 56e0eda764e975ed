import HTTPTypes

extension HTTPField.Name {
    // The argument is a literal and a valid token.

    /// The client library identification that Google's clients send.
    static let xGoogAPIClient = HTTPField.Name("X-Goog-Api-Client")!
}
