//! Saving and loading: tensors in `model.safetensors`, everything else in `model.json`.

use super::classifier::{CLASS_LIMIT, Classifier, ClassifierMember};
use super::labels::LabelState;
use super::params::{Classification, Params, Regression};
use super::regressor::{Regressor, RegressorMember};
use super::target_scale::TargetScale;
use super::values::ValueState;
use crate::net::{Head, Network, Pieces, Scaler, Shape};
use crate::{Error, ErrorKind, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// The version of the files, the one of models whose columns enter in pieces, and the one of models whose guesses lie between rivals.
/// A model of another version is refused.
const FORMAT: u32 = 1;
const FORMAT_IN_PIECES: u32 = 2;
const FORMAT_WITH_RIVALS: u32 = 3;
const TENSORS: &str = "model.safetensors";
const DESCRIPTION: &str = "model.json";

/// A fitted model of either kind.
#[derive(Debug, Clone)]
pub enum Model {
    /// Predicts classes.
    Classifier(Classifier),
    /// Predicts numbers.
    Regressor(Regressor),
}

#[derive(Serialize, Deserialize)]
struct Description {
    format: u32,
    nbam: String,
    /// SHA-256 of the tensors' file: the two belong together.
    tensors: String,
    shape: Shape,
    /// How many ramps each column has, if any has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<usize>,
    task: Task,
    attachment: serde_json::Value,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    Classification {
        params: Params<Classification>,
        classes: usize,
        states: Vec<LabelState>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_pooled: bool,
    },
    Regression {
        params: Params<Regression>,
        target: TargetScale,
        states: Vec<ValueState>,
    },
}

impl Task {
    /// Whether a label's guesses lie between it and the most probable other class.
    fn has_rivals(&self) -> bool {
        let has_rivals = |state: &LabelState| matches!(state, LabelState::Transition(transition) if transition.has_rivals());
        matches!(self, Self::Classification { states, .. } if states.iter().any(has_rivals))
    }
}

/// A model as two pieces of memory: what [`Model::save`] writes to its two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelBytes {
    /// `model.json`.
    pub description: String,
    /// `model.safetensors`.
    pub tensors: Vec<u8>,
}

impl Model {
    /// Saves into memory; the counterpart of [`Self::from_bytes`].
    ///
    /// # Errors
    /// When the model cannot be described.
    pub fn to_bytes(&self) -> Result<ModelBytes> {
        match self {
            Self::Classifier(model) => model.parts().encode(&serde_json::Value::Null),
            Self::Regressor(model) => model.parts().encode(&serde_json::Value::Null),
        }
    }

    /// Loads what [`Self::to_bytes`] gave: the model, with the same bits.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &ModelBytes) -> Result<Self> {
        let (description, tensors) = (Path::new(DESCRIPTION), Path::new(TENSORS));
        Ok(Self::decode(&bytes.description, description, &bytes.tensors, tensors)?.0)
    }

    /// How many threads score new rows; 0 is as many as the machine has. A loaded model uses all.
    pub fn set_threads(&mut self, threads: usize) {
        match self {
            Self::Classifier(model) => model.params.threads = threads,
            Self::Regressor(model) => model.params.threads = threads,
        }
    }

    /// Saves into a folder, which is made if need be. `attachment` is kept as it is and given back by [`Self::load`].
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn save(&self, folder: &Path, attachment: &serde_json::Value) -> Result<()> {
        match self {
            Self::Classifier(model) => model.parts().write(folder, attachment),
            Self::Regressor(model) => model.parts().write(folder, attachment),
        }
    }

    /// Loads what [`Self::save`] wrote: the model, with the same bits, and the attachment.
    ///
    /// # Errors
    /// When a file is missing, damaged, changed by hand, or of another version.
    pub fn load(folder: &Path) -> Result<(Self, serde_json::Value)> {
        let path = folder.join(DESCRIPTION);
        let text = std::fs::read_to_string(&path).map_err(|error| io_error("read", &path, &error))?;
        let tensors_path = folder.join(TENSORS);
        let bytes = std::fs::read(&tensors_path).map_err(|error| io_error("read", &tensors_path, &error))?;
        Self::decode(&text, &path, &bytes, &tensors_path)
    }

    /// The model from the contents of its two files; the paths are for messages.
    fn decode(text: &str, text_path: &Path, bytes: &[u8], path: &Path) -> Result<(Self, serde_json::Value)> {
        check_format(text, text_path)?;
        let description: Description =
            serde_json::from_str(text).map_err(|error| damaged(text_path, &error))?;
        if hash(bytes) != description.tensors {
            return Err(damaged(path, &"its contents are not those that were saved with model.json"));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(path, &error))?;
        let shape = description.shape;
        let read = |name: &str| read_tensor(&tensors, name).map_err(|error| damaged(path, &error));
        let mut scaler = Scaler::plain(read("scaler.mean")?, read("scaler.scale")?);
        if !description.pieces.is_empty() {
            scaler.pieces = Pieces {
                low: read("scaler.pieces.low")?,
                slope: read("scaler.pieces.slope")?,
                mean: read("scaler.pieces.mean")?,
                scale: read("scaler.pieces.scale")?,
                counts: description.pieces,
            };
        }
        if scaler.inputs() != shape.inputs || !scaler.is_whole() {
            return Err(damaged(path, &"the scaler does not fit the network"));
        }
        let network = |member: usize| -> Result<Network> {
            let read = |name: &str| read_tensor(&tensors, &format!("member.{member}.{name}"));
            Network::from_tensors(shape.clone(), read).map_err(|error| damaged(path, &error))
        };
        let model = match description.task {
            Task::Classification { params, classes, states, is_pooled } => {
                if !(2..=CLASS_LIMIT).contains(&classes) {
                    return Err(damaged(path, &"the number of classes is out of range"));
                }
                params.clone().check().map_err(|error| damaged(path, &error))?;
                let expected =
                    params.task.model.heads(classes, params.task.prior_hidden, params.task.prior_bias);
                check_shape(&shape, expected, &params, path)?;
                let mut members = Vec::new();
                for (index, state) in states.into_iter().enumerate() {
                    if !state.fits(&params.task.model, classes) {
                        return Err(damaged(path, &"a member does not fit the label model"));
                    }
                    members.push(ClassifierMember {
                        network: network(index)?.with_precision(params.precision),
                        state,
                    });
                }
                check_members(members.len(), path)?;
                Self::Classifier(Classifier::loaded(params, classes, scaler, members, is_pooled))
            }
            Task::Regression { params, target, states } => {
                if !(target.spread > 0.0 && target.spread.is_finite() && target.centre.is_finite()) {
                    return Err(damaged(path, &"the target's scale is not a positive number"));
                }
                params.clone().check().map_err(|error| damaged(path, &error))?;
                let task = &params.task;
                let expected = task.model.heads(task.linear_path, task.prior_hidden, task.prior_bias);
                check_shape(&shape, expected, &params, path)?;
                let mut members = Vec::new();
                for (index, state) in states.into_iter().enumerate() {
                    if !task.model.allows(&state.model) || !state.fits() {
                        return Err(damaged(path, &"a member does not fit the value model"));
                    }
                    members.push(RegressorMember {
                        network: network(index)?.with_precision(params.precision),
                        state,
                    });
                }
                check_members(members.len(), path)?;
                let (losses, training, warnings) = (Vec::new(), None, Vec::new());
                Self::Regressor(Regressor { params, scaler, target, members, losses, training, warnings })
            }
        };
        Ok((model, description.attachment))
    }
}

/// What is written of a model.
struct Parts<'a> {
    scaler: &'a Scaler,
    networks: Vec<&'a Network>,
    task: Task,
}

impl Parts<'_> {
    /// The oldest format that says everything about this model.
    fn format(&self) -> u32 {
        if self.task.has_rivals() {
            FORMAT_WITH_RIVALS
        } else if self.scaler.pieces.is_empty() {
            FORMAT
        } else {
            FORMAT_IN_PIECES
        }
    }

    fn encode(self, attachment: &serde_json::Value) -> Result<ModelBytes> {
        let tensors = tensor_bytes(self.scaler, &self.networks)?;
        let description = Description {
            format: self.format(),
            nbam: env!("CARGO_PKG_VERSION").into(),
            tensors: hash(&tensors),
            shape: self.networks[0].shape().clone(),
            pieces: self.scaler.pieces.counts.clone(),
            task: self.task,
            attachment: attachment.clone(),
        };
        let description = serde_json::to_string_pretty(&description).map_err(|error| {
            Error::new(ErrorKind::Model, format!("the model cannot be described: {error}"))
        })?;
        Ok(ModelBytes { description, tensors })
    }

    fn write(self, folder: &Path, attachment: &serde_json::Value) -> Result<()> {
        let ModelBytes { description, tensors } = self.encode(attachment)?;
        std::fs::create_dir_all(folder).map_err(|error| io_error("create", folder, &error))?;
        write_whole(&folder.join(TENSORS), &tensors)?;
        write_whole(&folder.join(DESCRIPTION), description.as_bytes())
    }
}

impl Classifier {
    fn parts(&self) -> Parts<'_> {
        Parts {
            scaler: &self.scaler,
            networks: self.members.iter().map(|member| &member.network).collect(),
            task: Task::Classification {
                params: self.params.clone(),
                classes: self.classes,
                states: self.members.iter().map(|member| member.state.clone()).collect(),
                is_pooled: self.is_pooled,
            },
        }
    }

    /// Saves into a folder, which is made if need be: `model.safetensors` and `model.json`.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        self.parts().write(folder, &serde_json::Value::Null)
    }

    /// Loads a saved classifier; it gives the same bits as the one that was saved.
    ///
    /// # Errors
    /// As [`Model::load`], and when the folder holds a regressor.
    pub fn load(folder: &Path) -> Result<Self> {
        match Model::load(folder)?.0 {
            Model::Classifier(model) => Ok(model),
            Model::Regressor(_) => Err(other_kind(folder, "a regressor", "a classifier")),
        }
    }
}

impl Regressor {
    fn parts(&self) -> Parts<'_> {
        Parts {
            scaler: &self.scaler,
            networks: self.members.iter().map(|member| &member.network).collect(),
            task: Task::Regression {
                params: self.params.clone(),
                target: self.target,
                states: self.members.iter().map(|member| member.state.clone()).collect(),
            },
        }
    }

    /// Saves into a folder, which is made if need be: `model.safetensors` and `model.json`.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        self.parts().write(folder, &serde_json::Value::Null)
    }

    /// Loads a saved regressor; it gives the same bits as the one that was saved.
    ///
    /// # Errors
    /// As [`Model::load`], and when the folder holds a classifier.
    pub fn load(folder: &Path) -> Result<Self> {
        match Model::load(folder)?.0 {
            Model::Regressor(model) => Ok(model),
            Model::Classifier(_) => Err(other_kind(folder, "a classifier", "a regressor")),
        }
    }
}

fn other_kind(folder: &Path, got: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Model, format!("{} holds {got}, expected {expected}", folder.display()))
}

fn tensor_bytes(scaler: &Scaler, networks: &[&Network]) -> Result<Vec<u8>> {
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let Scaler { mean, scale, pieces } = scaler;
    let mut of_scaler = vec![("mean", mean), ("scale", scale)];
    if !pieces.is_empty() {
        let Pieces { low, slope, mean, scale, .. } = pieces;
        of_scaler.extend([
            ("pieces.low", low),
            ("pieces.slope", slope),
            ("pieces.mean", mean),
            ("pieces.scale", scale),
        ]);
    }
    let mut parts: Vec<_> = of_scaler
        .into_iter()
        .map(|(name, values)| (format!("scaler.{name}"), vec![values.len()], bytes(values)))
        .collect();
    for (member, network) in networks.iter().enumerate() {
        for (name, rows, columns, range) in network.tensors() {
            let values = bytes(&network.parameters()[range]);
            parts.push((format!("member.{member}.{name}"), vec![rows, columns], values));
        }
    }
    let fault = |error: safetensors::SafeTensorError| {
        Error::new(ErrorKind::Model, format!("the tensors cannot be written: {error}"))
    };
    let mut views = Vec::new();
    for (name, shape, data) in &parts {
        views.push((name.clone(), TensorView::new(Dtype::F32, shape.clone(), data).map_err(fault)?));
    }
    safetensors::serialize(views, None).map_err(fault)
}

fn read_tensor(tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<f32>> {
    let fault = |reason: String| Error::new(ErrorKind::Model, format!("tensor '{name}' {reason}"));
    let tensor = tensors.tensor(name).map_err(|_| fault("is missing".into()))?;
    if tensor.dtype() != Dtype::F32 {
        return Err(fault(format!("is of type {:?}, expected F32", tensor.dtype())));
    }
    let values = tensor
        .data()
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    Ok(values.collect())
}

fn check_format(text: &str, path: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
        nbam: String,
    }
    let version: Version = serde_json::from_str(text).map_err(|error| damaged(path, &error))?;
    if (FORMAT..=FORMAT_WITH_RIVALS).contains(&version.format) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Model,
        format!(
            "{} is of model format {} (written by nbam {}), expected format {FORMAT} to {FORMAT_WITH_RIVALS}",
            path.display(),
            version.format,
            version.nbam
        ),
    )
    .with_hint("fit the model again with this version, or use the version that wrote it"))
}

/// The saved shape must be the one that the parameters give.
fn check_shape<T>(shape: &Shape, heads: Vec<Head>, params: &Params<T>, path: &Path) -> Result<()> {
    let expected =
        Shape { inputs: shape.inputs, hidden: params.hidden.clone(), activation: params.activation, heads };
    if *shape == expected { Ok(()) } else { Err(damaged(path, &"the network is not that of its parameters")) }
}

fn check_members(count: usize, path: &Path) -> Result<()> {
    if count > 0 { Ok(()) } else { Err(damaged(path, &"it has no members")) }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes beside the file and renames, so that a file is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("part");
    std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path)).map_err(|error| {
        // What is half written is of no use to anyone; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&beside);
        io_error("write", path, &error)
    })
}

fn io_error(verb: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot {verb} {}: {error}", path.display()))
}

fn damaged(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Model, format!("{} is damaged or was changed: {reason}", path.display()))
        .with_hint("save the model again")
}
