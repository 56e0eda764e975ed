import ArgumentParser
import DocumentModel

extension ResourcePath {
    /// Parses a command-line argument.
    static func argument(_ text: String) throws -> ResourcePath {
        do {
            return try ResourcePath(text)
        } catch {
            throw ValidationError(error.message)
        }
    }
}

extension DocumentPath {
    /// Parses a command-line argument.
    static func argument(_ text: String) throws -> DocumentPath {
        do {
            return try DocumentPath(text)
        } catch {
            throw ValidationError(error.message)
        }
    }
}
