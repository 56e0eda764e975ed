import HTTPTypes

extension HTTPField.Name {
    // The arguments are literals and valid tokens.

    /// The client library identification that Google's clients send.
    static let xGoogAPIClient = HTTPField.Name("X-Goog-Api-Client")!
    /// The number of damaged documents omitted from a response, which the protocol cannot report.
    static let hearthDamagedDocuments = HTTPField.Name("Hearth-Damaged-Documents")!
}
