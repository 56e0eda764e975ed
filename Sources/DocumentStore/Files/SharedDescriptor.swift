/// An open file or folder that several hold, closed when the last of them lets go.
final class SharedDescriptor: Sendable {
    /// The file or folder.
    let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }
}
