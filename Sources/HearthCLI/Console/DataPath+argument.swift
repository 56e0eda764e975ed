import ArgumentParser
import DocumentModel

extension DataPath {
    /// Reads an argument, as the command line parser wants it.
    static func argument(_ text: String) throws -> DataPath {
        do {
            return try DataPath(text)
        } catch {
            throw ValidationError(error.message)
        }
    }
}

extension DocumentPath {
    /// Reads an argument, as the command line parser wants it.
    static func argument(_ text: String) throws -> DocumentPath {
        do {
            return try DocumentPath(text)
        } catch {
            throw ValidationError(error.message)
        }
    }
}
