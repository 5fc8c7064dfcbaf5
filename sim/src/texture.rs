//! Texture objects over linear and pitched memory, surface objects over a plain 2D array.
use crate::memory::{Bytes, Fault, FaultKind, GlobalMemory};

/// What coordinates outside a texture read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// Zero.
    Border,
    /// The nearest element.
    Clamp,
}

/// A texture object.
#[derive(Clone, Debug)]
pub struct Texture {
    /// Address of the first element.
    pub address: u64,
    /// Width in elements.
    pub width: u64,
    /// Height in elements; 1 for linear memory.
    pub height: u64,
    /// Bytes between rows.
    pub pitch_bytes: u64,
    /// 32-bit channels of an element, 1 to 4.
    pub channels: usize,
    /// What lies outside, in x and y. Linear memory reads zero.
    pub address_mode: [AddressMode; 2],
}

/// A surface object.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Address of the first byte.
    pub address: u64,
    /// Bytes of a row.
    pub width_bytes: u64,
    /// Rows.
    pub height: u64,
}

/// The objects of a device; a handle is a position from 1.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    textures: Vec<Texture>,
    surfaces: Vec<Surface>,
}

const SURFACES: u64 = 1 << 32;

impl Objects {
    /// Makes a texture object and gives its handle.
    pub fn add_texture(&mut self, texture: Texture) -> u64 {
        self.textures.push(texture);
        self.textures.len() as u64
    }

    /// Makes a surface object and gives its handle.
    pub fn add_surface(&mut self, surface: Surface) -> u64 {
        self.surfaces.push(surface);
        SURFACES + self.surfaces.len() as u64
    }

    /// The element at unnormalised coordinates, the nearest one; channels that it lacks are 0, the fourth 1.
    pub(crate) fn fetch(&self, handle: u64, coords: &[f64], memory: &GlobalMemory) -> Result<[u32; 4], Fault> {
        let unknown = || Fault::new(FaultKind::IllegalAddress, format!("{handle:#x} is no texture object"));
        let index = handle.checked_sub(1).ok_or_else(unknown)?;
        let texture = self.textures.get(index as usize).ok_or_else(unknown)?;
        let place = |axis: usize, size: u64| -> Option<u64> {
            let x = coords.get(axis).map_or(0.0, |c| c.floor());
            match texture.address_mode[axis] {
                _ if x >= 0.0 && x < size as f64 => Some(x as u64),
                AddressMode::Border => None,
                AddressMode::Clamp => Some(if x < 0.0 { 0 } else { size.saturating_sub(1) }),
            }
        };
        let mut texel = [0, 0, 0, 1f32.to_bits()];
        if let (Some(x), Some(y)) = (place(0, texture.width), place(1, texture.height)) {
            let address = texture.address + y * texture.pitch_bytes + x * texture.channels as u64 * 4;
            for (i, channel) in texel.iter_mut().take(texture.channels).enumerate() {
                let mut bytes = [0; 4];
                memory.read(address + 4 * i as u64, &mut bytes)?;
                *channel = u32::from_le_bytes(bytes);
            }
        } else {
            texel[..texture.channels.min(4)].fill(0);
        }
        Ok(texel)
    }

    /// The address of `bytes` at byte column `coords[0]` of row `coords[1]`.
    pub(crate) fn surface_address(&self, handle: u64, coords: &[i32], bytes: usize) -> Result<u64, Fault> {
        let unknown = || Fault::new(FaultKind::IllegalAddress, format!("{handle:#x} is no surface object"));
        let index = handle.checked_sub(SURFACES + 1).ok_or_else(unknown)?;
        let surface = self.surfaces.get(index as usize).ok_or_else(unknown)?;
        let (x, y) = (
            coords.first().copied().unwrap_or(0),
            coords.get(1).copied().unwrap_or(0),
        );
        let inside = x >= 0 && y >= 0 && x as u64 + bytes as u64 <= surface.width_bytes && (y as u64) < surface.height;
        if !inside {
            return Err(Fault::new(
                FaultKind::IllegalAddress,
                format!("surface access at byte {x} of row {y}, outside the surface"),
            ));
        }
        Ok(surface.address + y as u64 * surface.width_bytes + x as u64)
    }
}
