import Glibc
import NIOCore

extension RawConnection {
    /// Simulates an unplugged cable: drops all incoming packets, including acknowledgments, with a socket filter that accepts none.
    package func unplug() async throws {
        let instruction = UnsafeMutablePointer<FilterInstruction>.allocate(capacity: 1)
        defer { instruction.deallocate() }
        // Return the constant 0.
        instruction.initialize(to: FilterInstruction(code: 0x06, ifTrue: 0, ifFalse: 0, constant: 0))
        let program = FilterProgram(length: 1, address: UInt(bitPattern: instruction))
        guard let options = channel as? any SocketOptionProvider else { throw ChannelError.operationUnsupported }
        try await options.unsafeSetSocketOption(
            level: .socket,
            name: NIOBSDSocket.Option(rawValue: SO_ATTACH_FILTER),
            value: program
        )
        .get()
    }
}

/// `struct sock_filter` of `linux/filter.h`.
private struct FilterInstruction {
    let code: UInt16
    let ifTrue: UInt8
    let ifFalse: UInt8
    let constant: UInt32
}

/// `struct sock_fprog` of `linux/filter.h`.
private struct FilterProgram: Sendable {
    let length: UInt16
    let address: UInt
}
