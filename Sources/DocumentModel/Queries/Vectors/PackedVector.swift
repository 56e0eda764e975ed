/// A vector in single precision, as an index stores it: its components in native byte order.
package struct PackedVector: Hashable, Sendable {
    /// The components.
    package let bytes: [UInt8]
    /// True if no component was rounded, so that the original can be restored.
    package let isExact: Bool

    /// The size of a component.
    package static let componentBytes = MemoryLayout<Float>.size

    /// Rounds a vector to single precision.
    package init(_ vector: [Double]) {
        var bytes = [UInt8](repeating: 0, count: vector.count * Self.componentBytes)
        var isExact = true
        bytes.withUnsafeMutableBytes { bytes in
            for (index, component) in vector.enumerated() {
                let rounded = Float(component)
                isExact = isExact && (Double(rounded) == component || component.isNaN)
                bytes.storeBytes(of: rounded, toByteOffset: index * Self.componentBytes, as: Float.self)
            }
        }
        self.bytes = bytes
        self.isExact = isExact
    }
}

extension [Double] {
    /// Restores a vector from the bytes of a ``PackedVector``.
    package init(packed bytes: UnsafeRawBufferPointer) {
        self = (0..<bytes.count / PackedVector.componentBytes).map { index in
            Double(bytes.loadUnaligned(fromByteOffset: index * PackedVector.componentBytes, as: Float.self))
        }
    }
}
